package sipstore_test

import (
	"fmt"
	"testing"
	"time"

	"github.com/callwright/callwright"
	"github.com/callwright/callwright/adapters/bunstore/internal/storetest"
	"github.com/callwright/callwright/adapters/bunstore/sipstore"
)

// BenchmarkCallLogPage reads pages of 50 of a number's records. The duration should not depend on the number of records.
func BenchmarkCallLogPage(b *testing.B) {
	for _, name := range []string{"sqlite", "postgres"} {
		for _, count := range []int{1000, 1_000_000} {
			db := storetest.Open(b, storetest.Databases[name](b))
			fillLog(b, db, count, 1)
			middle := logStart.Add(time.Duration(count/2) * time.Second)
			for place, before := range map[string]callwright.Keyset{"first": {}, "middle": {At: middle, ID: "c"}} {
				b.Run(fmt.Sprintf("%s/%d/%s", name, count, place), func(b *testing.B) {
					for b.Loop() {
						page, err := sipstore.CallLog{DB: db}.List(b.Context(), "o", "+15550001000", before, 50)
						if err != nil || len(page) != 50 {
							b.Fatal(len(page), err)
						}
					}
				})
			}
		}
	}
}
