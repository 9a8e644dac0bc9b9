// Package speechtest tests adapters of the ports of package speech: engines, storage of voices, samples and audio, cloning and
// decoding. It also contains fakes for tests of their users.
package speechtest
