// Commands of the newest mongodb; the older ones are in mongodb.full.test.ts.
import { describeMongodb } from './mongodb-cases.js';

describeMongodb('mongodb');
