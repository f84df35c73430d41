// Commands of the drivers that older versions of mongoose have: 5.9, 6.2, which both call back, 6.20 and 7.0.
import { describeMongodb } from './mongodb-cases.js';

for (const name of ['mongoose-7', 'mongoose-8-0', 'mongoose-8', 'mongoose-9-0']) describeMongodb(name);
