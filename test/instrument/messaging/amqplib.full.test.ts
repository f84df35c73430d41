// Messages of older versions of amqplib: 0.8, whose promises are bluebird's, and 0.10.
import { describeAmqplib } from './amqplib-cases.js';

for (const name of ['amqplib-0-8', 'amqplib-0-10']) describeAmqplib(name);
