package s3blobs_test

import (
	"fmt"
	"os"

	"github.com/callwright/callwright"
	"github.com/callwright/callwright/adapters/s3blobs"
	"github.com/callwright/callwright/speech"
)

// A program stores the audio of samples in a bucket that all of its nodes can access.
func ExampleNew() {
	blobs, err := s3blobs.New(s3blobs.Config{
		Bucket:    "callwright-audio",
		Prefix:    "production",
		Endpoint:  "https://s3.example.com",
		PathStyle: true,
		AccessKey: "callwright",
		SecretKey: callwright.Secret(os.Getenv("S3_SECRET_KEY") + "of the example"),
	})
	config := speech.Config{Blobs: blobs} // a complete Config also sets the engine and the stores
	fmt.Println(config.Blobs != nil, err)
	// Output: true <nil>
}
