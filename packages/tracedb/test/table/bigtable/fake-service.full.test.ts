// The Bigtable engine before a service that breaks, cuts and stalls as no healthy one does. In one file: loading the client takes longer than
// all of these tests.
import './broken-reads.js';
import './broken-writes.js';
import './requests.js';
import './stopped-reads.js';
