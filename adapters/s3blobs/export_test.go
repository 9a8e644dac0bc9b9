package s3blobs

import (
	"net/http"

	"github.com/aws/aws-sdk-go-v2/service/s3"

	"github.com/callwright/callwright"
)

// Client returns the client of blobs.
func (b *Blobs) Client() *s3.Client { return b.client }

// NewTransport returns the transport that New makes.
func NewTransport() *http.Transport { return newTransport() }

// Key returns the key of audio.
func (b *Blobs) Key(org callwright.OrgID, name string) string {
	key, err := b.key(org, name)
	if err != nil {
		panic(err)
	}
	return key
}
