package s3blobs

import (
	"net/http"

	"github.com/aws/aws-sdk-go-v2/service/s3"

	"github.com/callwright/callwright"
)

// Client returns the S3 client of b.
func (b *Blobs) Client() *s3.Client { return b.client }

// NewTransport returns the transport that New uses by default.
func NewTransport() *http.Transport { return newTransport() }

// Key returns the object key of the audio with the given name.
func (b *Blobs) Key(org callwright.OrgID, name string) string {
	key, err := b.key(org, name)
	if err != nil {
		panic(err)
	}
	return key
}
