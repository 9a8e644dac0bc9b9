// Package source limits what each source of calls may do: how many INVITEs it sends, how many of them are in admission at a
// time, and how often it may be refused or send wrong credentials. It blocks sources that behave like scanners.
package source
