// Package persona keeps personas: characters that handle calls. A persona has a version in production, which calls use, and
// may have a draft, which is edited and then promoted. Versions are numbered from 1 without gaps, and a version that was in
// production never changes.
//
// Create makes a persona, in production at once if it has a task. Update changes its name and the like at once, and its
// prompts, settings and tools in the draft. Promote puts the draft in production, and Discard removes it. Load gives a call
// the version in production.
package persona
