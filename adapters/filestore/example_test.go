package filestore_test

import (
	"context"
	"fmt"
	"io"
	"os"
	"strings"

	"github.com/callwright/callwright/adapters/filestore"
)

func ExampleBlobs() {
	folder, err := os.MkdirTemp("", "example")
	if err != nil {
		fmt.Println(err)
		return
	}
	defer func() { _ = os.RemoveAll(folder) }()
	blobs, err := filestore.NewBlobs(folder)
	if err != nil {
		fmt.Println(err)
		return
	}
	ctx := context.Background()
	const audio = "the bytes of a WAV file"
	if err := blobs.StoreBlob(ctx, "acme", "sample-1", strings.NewReader(audio), int64(len(audio))); err != nil {
		fmt.Println(err)
		return
	}
	stored, err := blobs.OpenBlob(ctx, "acme", "sample-1")
	if err != nil {
		fmt.Println(err)
		return
	}
	content, err := io.ReadAll(stored)
	fmt.Println(string(content), err, stored.Close(), blobs.Close())
	// Output: the bytes of a WAV file <nil> <nil> <nil>
}
