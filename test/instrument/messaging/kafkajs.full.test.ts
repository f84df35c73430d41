// Messages of kafkajs 1.
import { describeKafkajs } from './kafkajs-cases.js';

describeKafkajs('kafkajs-1');
