// Package persona manages personas: characters that handle calls. A persona has a version in production, which calls use, and may
// have a draft, which is edited and then promoted. Versions are numbered from 1 without gaps, and a version that was in production
// never changes.
//
// Create creates a persona, in production immediately if it has a task. Update changes its name and similar fields immediately, and
// its prompts, settings and tools in the draft. Promote puts the draft in production, and Discard deletes it. Load returns the
// version in production for a call.
package persona
