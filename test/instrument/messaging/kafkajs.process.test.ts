// Messages of the newest kafkajs; the older one is in kafkajs.full.test.ts.
import { describeKafkajs } from './kafkajs-cases.js';

describeKafkajs('kafkajs');
