// Jobs of bullmq 4, which has no telemetry of its own.
import { describeBullmq } from './bullmq-cases.js';

describeBullmq('bullmq-4');
