// Package speechtest tests adapters of the ports of package speech: engines, storage of voices, samples and audio, cloning
// and decoding. It also has stand-ins for tests of what uses them.
package speechtest
