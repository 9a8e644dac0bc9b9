// Package speechstore stores voices, samples and audio in a memstore.Store.
package speechstore
