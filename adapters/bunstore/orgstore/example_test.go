package orgstore_test

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"

	"github.com/callwright/callwright"
	"github.com/callwright/callwright/access"
	"github.com/callwright/callwright/adapters/bunstore"
	"github.com/callwright/callwright/adapters/bunstore/orgstore"
	"github.com/callwright/callwright/adapters/masterkey"
)

// The example opens the database of a deployment, which a server may be using, and creates an organization.
func Example() {
	ctx := context.Background()
	data, err := os.MkdirTemp("", "callwright-example-")
	check(err)
	defer func() { _ = os.RemoveAll(data) }()

	master, err := masterkey.Find(os.Getenv(masterkey.Variable), data)
	if errors.Is(err, fs.ErrNotExist) { // the deployment is new: create its master key
		master = masterkey.New(data)
		err = os.WriteFile(masterkey.File(data), []byte(master.Text().Reveal()), 0o600)
	}
	check(err)
	derived, err := master.Keys()
	check(err)
	db, err := bunstore.Open(ctx, "sqlite:"+filepath.Join(data, "callwright.db"), bunstore.Config{Keyring: derived.Keyring})
	check(err)
	defer func() { _ = db.Close() }()
	admin, err := access.New(access.Config{Store: orgstore.Tenants{DB: db}, Atomic: db, Secret: derived.APIKeys})
	check(err)

	org, err := admin.CreateOrganization(ctx, "acme", "Acme", callwright.EntitlementSIP)
	check(err)
	fmt.Println(org.ID, org.Entitlements)
	// Output:
	// acme [SIP]
}

func check(err error) {
	if err != nil {
		panic(err)
	}
}
