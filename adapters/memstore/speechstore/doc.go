// Package speechstore stores voices and samples in a memstore.Store, and audio in a Blobs.
package speechstore
