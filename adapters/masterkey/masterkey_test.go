package masterkey_test

import (
	"encoding/base64"
	"encoding/hex"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"strings"
	"testing"

	"github.com/callwright/callwright"
	"github.com/callwright/callwright/adapters/masterkey"
)

func TestFind(t *testing.T) {
	t.Parallel()
	folder := t.TempDir()
	if _, err := masterkey.Find("", folder); !errors.Is(err, fs.ErrNotExist) {
		t.Errorf("an empty folder gave %v", err)
	}
	made := masterkey.New(folder)
	if err := os.WriteFile(masterkey.File(folder), []byte(made.Text().Reveal()+"\n"), 0o600); err != nil {
		t.Fatal(err)
	}
	found, err := masterkey.Find("", folder)
	if err != nil || found.Text() != made.Text() || found.From != masterkey.File(folder) {
		t.Errorf("the file gave a key of %s, %v", found.From, err)
	}
	other := masterkey.New(folder).Text()
	found, err = masterkey.Find(other.Reveal(), folder)
	if err != nil || found.Text() != other || other == made.Text() || found.From != masterkey.Variable {
		t.Errorf("the variable gave a key of %s, %v", found.From, err)
	}
	for _, wrong := range []string{"short", base64.StdEncoding.EncodeToString([]byte("16 bytes long...")), strings.Repeat("!", 44)} {
		if _, err := masterkey.Find(wrong, folder); err == nil || !strings.Contains(err.Error(), masterkey.Variable) || strings.Contains(err.Error(), wrong) {
			t.Errorf("%q gave %v", wrong, err)
		}
	}
}

// TestDerive checks derived keys against fixed values. A release that derives other keys could not decrypt the data of earlier releases.
func TestDerive(t *testing.T) {
	t.Parallel()
	key, err := masterkey.Find(base64.StdEncoding.EncodeToString(make([]byte, masterkey.Size)), "")
	if err != nil {
		t.Fatal(err)
	}
	ring, err := key.Keyring()
	if err != nil {
		t.Fatal(err)
	}
	const sealed = "1:0DpNZE2JAWEp+caD0W5Z5qeNinomPtxOKMH8y1udmQA"
	if text, err := ring.Open("purpose", sealed); err != nil || text != "kept" {
		t.Errorf("got %v, %v; now it is sealed as %s", text, err, ring.Seal("purpose", "kept"))
	}
	derived, err := key.Derive("cursors")
	if got := hex.EncodeToString(derived); err != nil || got != "fd780f6763a04842792704a1c731279a2a1d2f63a6cfc3c655c0f093e080369d" {
		t.Errorf("got %s, %v", got, err)
	}
}

// TestKeys checks the keys of a deployment against fixed values. A release that derives other keys would refuse the API keys, links and
// cursors of earlier releases.
func TestKeys(t *testing.T) {
	t.Parallel()
	key, err := masterkey.Find(base64.StdEncoding.EncodeToString(make([]byte, masterkey.Size)), "")
	if err != nil {
		t.Fatal(err)
	}
	keys, err := key.Keys()
	if err != nil {
		t.Fatal(err)
	}
	for want, got := range map[string]callwright.Secret{
		"dd44b74ef710ab560f0309378372be55e9c5477696b39099c09bfe9bbe5f008d": keys.APIKeys,
		"1e74a1639d43afcf9f0a6560afc64d232b2b2365f4ec9d4b9b1b31bc4bd03e90": keys.RegisterPasswords,
		"c200f2b6bf3c232c1f285e2fa0eb18635c455885b3a3a6589ceca72097f779a9": keys.Letters,
		"fd780f6763a04842792704a1c731279a2a1d2f63a6cfc3c655c0f093e080369d": keys.Cursors,
	} {
		if text := hex.EncodeToString([]byte(got.Reveal())); text != want {
			t.Errorf("got %s, want %s", text, want)
		}
	}
	if text, err := keys.Keyring.Open("purpose", "1:0DpNZE2JAWEp+caD0W5Z5qeNinomPtxOKMH8y1udmQA"); err != nil || text != "kept" {
		t.Errorf("the keyring opens %v, %v", text, err)
	}
}

// TestPrinting checks that common verbs of fmt print no key.
func TestPrinting(t *testing.T) {
	t.Parallel()
	key := masterkey.New(t.TempDir())
	keys, err := key.Keys()
	if err != nil {
		t.Fatal(err)
	}
	raw, err := base64.StdEncoding.DecodeString(key.Text().Reveal())
	if err != nil {
		t.Fatal(err)
	}
	for _, format := range []string{"%v", "%+v", "%#v", "%s", "%q", "%x", "%d"} {
		text := fmt.Sprintf(format, key) + fmt.Sprintf(format, keys) + fmt.Sprintf(format, []masterkey.Key{key})
		for _, secret := range []string{string(raw), keys.APIKeys.Reveal(), keys.Letters.Reveal()} {
			for _, shown := range []string{secret, hex.EncodeToString([]byte(secret)), strings.Trim(fmt.Sprint([]byte(secret)), "[]")} {
				if strings.Contains(text, shown) {
					t.Errorf("%s shows a key: %s", format, text)
				}
			}
		}
	}
}
