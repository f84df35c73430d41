// Subject: OpenTelemetry SDK 2.
import * as otel from '../peers/otel.mjs';
import { sdkCases } from './sdk.mjs';

export const { subject } = otel;
export const cases = sdkCases(otel);
