// Messages of the newest amqplib; older ones are in amqplib.full.test.ts.
import { describeAmqplib } from './amqplib-cases.js';

describeAmqplib('amqplib');
