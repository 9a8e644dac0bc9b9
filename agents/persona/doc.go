// Package persona keeps personas: characters that handle calls. A persona has a version in production, which calls use, and
// may have a draft, which is edited and then promoted.
package persona
