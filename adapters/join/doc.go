// Package join connects domains that do not import each other, where the connection requires no technology: calls, pathways, test runs and
// port requests on one side, and issues on the other.
//
//   - Calls, Pathways, Runs and Ports are triage.ResourceResolvers.
//   - FailedCalls, FailedRuns and FailedPorts report failures as issues.
//   - Transcripts reads calls for tests.
//   - Gate lets pathways consult tests, which are created after the pathways.
//
// The package contains no rules, except for the selection of facts that an analyst may read.
//
// Evidence omits everything that is intended for another system or for the organization's own programs: addresses, headers and bodies of
// requests, tools, the request data of a call, the values of its variables and its metadata. Any of these may contain keys. Prompts and
// transcripts are included unchanged.
package join
