package pemfile_test

import (
	"crypto/tls"
	"crypto/x509"
	"fmt"
	"os"

	"github.com/callwright/callwright/adapters/pemfile"
	"github.com/callwright/callwright/adapters/testca"
)

func Example() {
	folder, err := os.MkdirTemp("", "example")
	if err != nil {
		fmt.Println(err)
		return
	}
	defer func() { _ = os.RemoveAll(folder) }()
	authority, err := testca.Open(folder)
	if err != nil {
		fmt.Println(err)
		return
	}
	keeper, err := pemfile.New(pemfile.Config{
		Read: func() (tls.Certificate, *x509.CertPool, error) {
			certificate, err := authority.Issue("localhost")
			return certificate, authority.Pool(), err
		},
		Hosts: []string{"sip.example.com"}, // names by which peers reach the program
	})
	if err != nil {
		fmt.Println(err)
		return
	}
	fmt.Println(keeper.Warnings())
	// Output: [the certificate does not name sip.example.com, and peers that connect to that name and verify the certificate refuse it: add the name]
}
