// Package speechtest contains the conformance suites for the ports of package speech: engines, decoders, cloners, and the storage of
// voices, samples and audio. It also contains fakes for tests of packages that use these ports.
package speechtest
