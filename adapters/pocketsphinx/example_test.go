package pocketsphinx_test

import (
	"context"
	"fmt"

	"github.com/callwright/callwright/adapters/flite"
	"github.com/callwright/callwright/adapters/pocketsphinx"
	"github.com/callwright/callwright/agents/conversation"
	"github.com/callwright/callwright/speech/speechtest"
	"github.com/callwright/callwright/speech/tts"
)

// The recognizer recognizes an expected phrase, which flite speaks here.
func Example() {
	recognizer, err := pocketsphinx.New(pocketsphinx.Config{})
	if err != nil {
		fmt.Println(err)
		return
	}
	caller, err := flite.New(flite.Config{})
	if err != nil {
		fmt.Println(err)
		return
	}
	ctx := context.Background()
	const rate = 16000
	speech, err := speechtest.Speak(ctx, caller, tts.Request{Text: "nine seven three", Rate: rate})
	if err != nil {
		fmt.Println(err)
		return
	}
	utterance, err := recognizer.Listen(ctx, conversation.Hearing{Rate: rate, Phrases: []string{"973", "413"}})
	if err != nil {
		fmt.Println(err)
		return
	}
	defer func() { _ = utterance.Close() }()
	if err := utterance.Write(speech); err != nil {
		fmt.Println(err)
		return
	}
	recognized, err := utterance.Finish(ctx)
	fmt.Println(recognized.Text, err)
	// Output: 973 <nil>
}
