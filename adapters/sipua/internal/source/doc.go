// Package source limits each source of calls over all its connections together: the rate of its requests, the number of its INVITEs in
// admission, and the number of its refused requests and wrong credentials. It blocks sources that behave like scanners.
package source
