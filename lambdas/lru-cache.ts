/**
 * The DynamoDB client caches discovered endpoints by operation and access key. In the bundles this class replaces the
 * package that implements the cache (lib/handler-bundles.ts). A function has one access key, so no entry must ever be
 * dropped.
 */
export default class UnboundedCache<Key, Value> extends Map<Key, Value> {
  /** @param _capacity ignored, and not passed on: a Map would take the number as its entries. */
  constructor(_capacity?: number) {
    super();
  }

  peek(key: Key): Value | undefined {
    return this.get(key);
  }
}
