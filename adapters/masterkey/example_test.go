package masterkey_test

import (
	"fmt"
	"os"

	"github.com/callwright/callwright/adapters/masterkey"
)

func Example() {
	folder, err := os.MkdirTemp("", "example")
	if err != nil {
		fmt.Println(err)
		return
	}
	defer func() { _ = os.RemoveAll(folder) }()
	made := masterkey.New(folder)
	if err := os.WriteFile(masterkey.File(folder), []byte(made.Text().Reveal()), 0o600); err != nil {
		fmt.Println(err)
		return
	}
	found, err := masterkey.Find("", folder)
	fmt.Println(found.Text() == made.Text(), err)
	// Output: true <nil>
}
