package registration_test

import (
	"fmt"
	"time"

	"github.com/callwright/callwright/sip"
	"github.com/callwright/callwright/sip/registration"
)

func ExampleMachine() {
	now := time.Date(2026, time.March, 1, 9, 0, 0, 0, time.UTC)
	machine := registration.Resume(sip.Registration{TrunkID: "t1", NextAt: now}, now, 0)
	for _, event := range []registration.Event{
		{Kind: registration.Due},
		{Kind: registration.Granted, For: 10 * time.Minute},
		{Kind: registration.Lost, Reason: "the connection was closed"},
	} {
		next, err := machine.Next(event, now, 0)
		if err != nil {
			fmt.Println(err)
			return
		}
		machine = next
		fmt.Println(machine.State, "next REGISTER in", machine.NextAt.Sub(now))
	}
	_, err := machine.Next(registration.Event{Kind: registration.Granted}, now, 0) // illegal, because no REGISTER was sent
	fmt.Println(err)
	// Output:
	// registering next REGISTER in 0s
	// registered next REGISTER in 8m30s
	// registering next REGISTER in 0s
	// registration: event 1 in phase 0
}
