/** Answers have to extend the package's types. The compiler checks this. */
import { expectTypeOf, it } from 'vitest';
import type * as z from 'zod/mini';
import type { Batch } from '../../src/api/batches/responses.ts';
import type * as fanOuts from '../../src/api/fan-outs/responses.ts';
import type * as lists from '../../src/api/lists/responses.ts';
import type { Task } from '../../src/api/tasks/responses.ts';
import type { Acked, AddedGroup } from '../../src/client/fan-out-calls.ts';
import type { AddedJobs, DeletedList, ListedJob, ListView } from '../../src/client/list-calls.ts';
import type { FanOutView } from '../../src/testing/testbed.ts';
import type { BatchView, TaskView } from '../../src/testing/views.ts';

/** As JSON has it: undefined members are absent. */
type Answered<T> = { [Name in keyof T]: Exclude<T[Name], undefined> };
type Of<Schema> = Answered<z.infer<Schema>>;

it('the schemas extend the types of the clients', () => {
  expectTypeOf<Answered<lists.List>>().toExtend<ListView>();
  expectTypeOf<Of<typeof lists.LIST_DELETED>>().toExtend<DeletedList>();
  expectTypeOf<Answered<lists.Job>>().toExtend<ListedJob>();
  expectTypeOf<Of<typeof lists.JOBS_ADDED>>().toExtend<AddedJobs>();
  expectTypeOf<Of<typeof fanOuts.ACKED>['unknown']>().toExtend<Acked['unknown']>();
  expectTypeOf<Answered<Of<typeof fanOuts.ACKED>['fanOuts'][number]>>().toExtend<Acked['fanOuts'][number]>();
  expectTypeOf<Of<typeof fanOuts.ITEMS_ADDED>['groups'][number]>().toExtend<AddedGroup>();
});

it('the schemas extend the types of the testbed', () => {
  expectTypeOf<Answered<fanOuts.FanOut>>().toExtend<FanOutView>();
  // A testbed keeps every payload.
  expectTypeOf<Answered<Task> & Pick<TaskView, 'payload'>>().toExtend<TaskView>();
  expectTypeOf<Answered<Batch>>().toExtend<BatchView>();
  expectTypeOf<Exclude<keyof Task, keyof TaskView>>().toEqualTypeOf<'waitsFor'>();
  expectTypeOf<Exclude<keyof Batch, keyof BatchView>>().toEqualTypeOf<'fill'>();
});
