// Package persona manages personas: characters that handle calls. A persona has a version in production, which calls use, and may have a
// draft, which is edited and then promoted. Versions are numbered from 1 without gaps. A version that was in production never changes.
//
// Create creates a persona, which is in production immediately if it has a task. Update changes the persona's name and similar fields
// immediately, and its prompts, settings and tools in the draft. Promote makes the draft the version in production, and Discard deletes the
// draft. Load returns the version in production for a call.
package persona
