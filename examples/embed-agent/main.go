// Command embed-agent runs a conversation in text with the brain of a telephone agent: it reads the caller's words from the standard input
// and prints the agent's words.
package main

import (
	"bufio"
	"context"
	"fmt"
	"log"
	"os"

	"github.com/callwright/callwright/adapters/scripted"
	"github.com/callwright/callwright/agents/conversation"
	"github.com/callwright/callwright/agents/prompted"
)

const task = `when "monday" or "tuesday": say "Morning or afternoon?"
when "morning" or "afternoon": say "It is booked. Goodbye." and end
otherwise: say "Monday or Tuesday?"`

func main() {
	brain, err := prompted.New(prompted.Config{
		Model: scripted.New(), Task: task, FirstSentence: "Which day suits you?",
	})
	if err != nil {
		log.Fatal(err)
	}
	turn, input := conversation.Turn{Kind: conversation.TurnStart}, bufio.NewScanner(os.Stdin)
	for !answer(brain, turn) && input.Scan() {
		turn = conversation.Turn{Kind: conversation.TurnSpeech, Text: input.Text()}
	}
}

// answer prints the agent's words, and reports whether the agent has ended the conversation.
func answer(brain conversation.Brain, turn conversation.Turn) (ended bool) {
	for step, err := range brain.Respond(context.Background(), turn) {
		if err != nil {
			log.Fatal(err)
		}
		switch step := step.(type) {
		case conversation.Say:
			fmt.Println(step.Text)
		case conversation.End:
			return true
		default: // other steps matter only for speech, such as hints for the recognizer
		}
	}
	return false
}
