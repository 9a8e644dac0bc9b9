// Package join connects domains that do not import each other, where the connection needs no technology: calls, pathways, test runs and
// port requests on one side, issues on the other. Calls, Pathways, Runs and Ports are triage.ResourceResolvers. FailedCalls, FailedRuns and
// FailedPorts report failures as issues. Transcripts reads calls for tests. A Gate lets pathways ask tests that are made after them. The
// package contains no rules except for the choice of facts that an analyst may read.
//
// Evidence leaves out everything that is meant for another system or for the organization's own programs: addresses,
// headers and bodies of requests, tools, the request data of a call, the values of its variables and its metadata. Any of
// these may hold keys. Prompts and transcripts are shown as they are.
package join
