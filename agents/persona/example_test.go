package persona_test

import (
	"context"
	"fmt"

	"github.com/callwright/callwright"
	"github.com/callwright/callwright/adapters/memstore"
	"github.com/callwright/callwright/adapters/memstore/agentstore"
	"github.com/callwright/callwright/agents/persona"
)

// Calls use a new persona immediately. Later changes wait in a draft until it is promoted.
func Example() {
	ctx, memory := context.Background(), memstore.New()
	personas, err := persona.New(persona.Config{Store: agentstore.Personas{Store: memory}, Atomic: memory})
	if err != nil {
		fmt.Println(err)
		return
	}
	desk, err := personas.Create(ctx, "org", persona.Persona{Name: "Front desk"}, persona.Version{
		Orchestration: "Book or move appointments.", Personality: "Calm and brief.",
	})
	if err != nil {
		fmt.Println(err)
		return
	}
	inUse := func() {
		p, v, err := personas.Load(ctx, "org", desk.Persona.ID)
		fmt.Printf("%s, version %d: %s %v\n", p.Name, v.Number, v.Orchestration, err)
	}
	inUse()
	_, err = personas.Update(ctx, "org", desk.Persona.ID, persona.Change{
		Orchestration: callwright.Given("Book, move or cancel appointments."),
	})
	fmt.Println("updated:", err)
	inUse()
	_, err = personas.Promote(ctx, "org", desk.Persona.ID)
	fmt.Println("promoted:", err)
	inUse()
	// Output:
	// Front desk, version 1: Book or move appointments. <nil>
	// updated: <nil>
	// Front desk, version 1: Book or move appointments. <nil>
	// promoted: <nil>
	// Front desk, version 2: Book, move or cancel appointments. <nil>
}
