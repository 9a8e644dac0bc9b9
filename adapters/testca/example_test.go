package testca_test

import (
	"crypto/x509"
	"fmt"
	"os"

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
	certificate, err := authority.Issue("sip.example.com")
	if err != nil {
		fmt.Println(err)
		return
	}
	leaf, err := x509.ParseCertificate(certificate.Certificate[0])
	if err != nil {
		fmt.Println(err)
		return
	}
	_, err = leaf.Verify(x509.VerifyOptions{DNSName: "sip.example.com", Roots: authority.Pool()})
	fmt.Println(leaf.DNSNames, err)
	// Output: [sip.example.com] <nil>
}
