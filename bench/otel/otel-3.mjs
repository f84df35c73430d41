// Subject: OpenTelemetry SDK 3.
import * as otel from '../peers/otel-3/otel.mjs';
import { sdkCases } from './sdk.mjs';

export const { subject } = otel;
export const cases = sdkCases(otel);
