// Trace ids in the records of winston 3.3.
import { installedAs } from '../installed-as.js';
import { describeWinston } from './winston-cases.js';

describeWinston('winston 3.3', installedAs('winston', 'winston-3-3').require);
