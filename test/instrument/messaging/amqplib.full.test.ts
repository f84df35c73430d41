// Messages of amqplib with a RabbitMQ, which takes seconds to start: 0.8, whose promises are bluebird's, 0.10, and the newest.
import { describeAmqplib } from './amqplib-cases.js';

describeAmqplib(['amqplib-0-8', 'amqplib-0-10', 'amqplib']);
