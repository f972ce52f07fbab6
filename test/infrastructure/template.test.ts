/** The rules run in one process, since synthesising the templates takes seconds. */
import './promises/queues.ts';
import './promises/event-sources.ts';
import './promises/functions.ts';
import './promises/roles.ts';
import './promises/tables.ts';
import './promises/identity.ts';
import './promises/alarms.ts';
