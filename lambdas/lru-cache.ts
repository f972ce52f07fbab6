/**
 * The DynamoDB client keeps endpoints that it discovered in a cache, by operation and access key. This class takes the place of the
 * cache's own in the bundles (lib/handler-bundles.ts). A function has one access key, so nothing ever has to be dropped.
 */
export default class KeptForGood<Key, Value> extends Map<Key, Value> {
  /** @param _capacity a number, which a map would take for its entries */
  constructor(_capacity?: number) {
    super();
  }

  peek(key: Key): Value | undefined {
    return this.get(key);
  }
}
