// Package source limits each source of calls: the rate of its requests, the number of its INVITEs in admission at a
// time, and the number of its refusals and wrong credentials, over all its connections together. It blocks sources that behave like scanners.
package source
