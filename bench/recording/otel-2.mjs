// Subject: OpenTelemetry SDK 2.
import * as otel from '../peers/otel.mjs';
import { recordingCases } from './otel.mjs';

export const { subject } = otel;
export const cases = recordingCases(otel);
