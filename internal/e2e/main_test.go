package e2e_test

import (
	"flag"
	"os"
	"testing"

	"github.com/callwright/callwright/adapters/testca"
	"github.com/callwright/callwright/internal/e2e/server"
)

// together is the default of -parallel for these tests. They mostly wait for the ends of spoken sentences.
const together = "5"

func TestMain(m *testing.M) {
	flag.Parse()
	chosen := false
	flag.Visit(func(f *flag.Flag) { chosen = chosen || f.Name == "test.parallel" })
	if !chosen {
		_ = flag.Set("test.parallel", together) // cannot fail: the flag exists and the value is a number
	}
	os.Exit(server.Main(m))
}

// authority returns a new certificate authority for a test.
func authority(t *testing.T) *testca.Authority {
	t.Helper()
	ca, err := testca.Open(t.TempDir())
	if err != nil {
		t.Fatal(err)
	}
	return ca
}
