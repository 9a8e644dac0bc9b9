package speechstore_test

import (
	"context"
	"fmt"

	"github.com/callwright/callwright"
	"github.com/callwright/callwright/adapters/bunstore"
	"github.com/callwright/callwright/adapters/bunstore/speechstore"
	"github.com/callwright/callwright/speech"
	"github.com/callwright/callwright/speech/tts"
)

// The example finds a voice by its id, and shows that the store refuses a second voice with the same name.
func Example() {
	ctx := context.Background()
	ring, err := callwright.NewKeyring("2026", map[string][]byte{"2026": []byte("32 bytes from a file with mode 0")})
	if err != nil {
		fmt.Println(err)
		return
	}
	db, err := bunstore.Open(ctx, "sqlite::memory:", bunstore.Config{Keyring: ring})
	if err != nil {
		fmt.Println(err)
		return
	}
	defer func() { _ = db.Close() }()

	voices := speechstore.Voices{DB: db}
	voice := speech.Voice{
		ID: "v1", Org: "acme", Name: "Front desk", Kind: speech.KindProfile, Service: "flite", Base: "slt",
		Prosody: tts.Prosody{Pitch: 1.1, Tempo: 0.9}, Version: 1,
	}
	if err := voices.InsertVoice(ctx, voice); err != nil {
		fmt.Println(err)
		return
	}
	stored, err := voices.Voice(ctx, "acme", "v1")
	fmt.Println(stored.Name, stored.Base, stored.Prosody.Pitch, err)
	voice.ID, voice.Name = "v2", "FRONT DESK"
	fmt.Println(voices.InsertVoice(ctx, voice))
	// Output:
	// Front desk slt 1.1 <nil>
	// name: must be unique: a voice with this name exists already
}
