package document_test

import (
	"context"
	"errors"
	"fmt"
	"strings"

	"github.com/callwright/callwright"
	"github.com/callwright/callwright/adapters/memstore"
	"github.com/callwright/callwright/adapters/memstore/portingstore"
	"github.com/callwright/callwright/porting/document"
)

// A customer uploads a bill, and a port request uses it. The bytes of a file, not its name, determine whether it is accepted.
func ExampleService_Upload() {
	memory := memstore.New()
	documents, err := document.New(document.Config{
		Store: portingstore.Documents{Store: memory},
		Blobs: portingstore.Blobs{Store: memory},
		Work:  memstore.NewWork(memory, nil),
	})
	if err != nil {
		fmt.Println(err)
		return
	}
	ctx, org := context.Background(), callwright.OrgID("acme")
	bill, err := documents.Upload(ctx, org, strings.NewReader("%PDF-1.7\ntrailer << /Encrypt 9 0 R >>\n"))
	fmt.Println(bill.Type, bill.Size, bill.Locked, err)

	absent, err := documents.UseDocuments(ctx, org, "port_1", []string{bill.ID, "doc_2"})
	fmt.Println(absent, err)

	_, err = documents.Upload(ctx, org, strings.NewReader("<svg onload='alert(1)'/>"))
	fmt.Println(err, errors.Is(err, callwright.ErrUnsupportedMedia))
	// Output:
	// application/pdf 38 true <nil>
	// [doc_2] <nil>
	// file: must be a PDF, JPEG, PNG, GIF, WebP, TIFF or HEIC file true
}
