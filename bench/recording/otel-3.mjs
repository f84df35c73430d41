// Subject: OpenTelemetry SDK 3.
import * as otel from '../peers/otel-3/otel.mjs';
import { recordingCases } from './otel.mjs';

export const { subject } = otel;
export const cases = recordingCases(otel);
