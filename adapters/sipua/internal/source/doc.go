// Package source limits what each source of calls may do: how many requests it sends, how many INVITEs are in admission at a
// time, and how often it may be refused or send wrong credentials, over all its connections together. It blocks sources that behave like scanners.
package source
