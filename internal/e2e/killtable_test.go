package e2e_test

import (
	"net/http"
	"os"
	"slices"
	"strings"
	"testing"

	"github.com/callwright/callwright/internal/contracttest"
)

// byKills means that TestKills kills the server during the operation, and compares the readable state with acknowledged writes.
const byKills = "TestKills"

// byKillsIfLate means that TestKills uses the operation, but that the canceled work has often ended before the cancellation.
// TestCancelledRunOfDeadNode of agenttest always tests it.
const byKillsIfLate = "TestKills, if a run is late; TestCancelledRunOfDeadNode of agenttest always"

// byMortals means that TestProcessesThatDie of agenttest/tornado kills processes during sessions. TestKills cannot, because its server has
// no model that proposes changes.
const byMortals = "TestProcessesThatDie of agenttest/tornado"

// byPortKills means that TestPortingKills kills two servers in turn during the operation. It compares the readable state, the mails and the
// webhooks with acknowledged writes.
const byPortKills = "TestPortingKills"

// guarded maps every served operation that may write to the test that kills servers during it, or to the reason why there is none.
var guarded = map[string]string{
	"createCall": byKills, "stopCall": byKills, "updateInboundNumber": byKills,
	"createAgent": byKills, "updateAgent": byKills, "removeAgent": byKills, "deleteAgent": byKills,

	"attachSipNumbers": byKills, "updateSipNumber": byKills, "detachSipNumber": byKills, "updateSipConfig": byKills,
	"startSipDiscovery": byKills, "startSipTestCall": byKills,
	"startSipNumberProof":  "one transaction, with the step that calls: TestKilledStepDoesNotCallAgain of sip/proof",
	"verifySipNumberProof": "one compare-and-set: TestFiveWrongCodes of sip/proof",
	"parseSipDestination":  "it writes nothing", "generateSipPassword": "it writes nothing",

	"createPathway": byKills, "updatePathway": byKills, "deletePathway": byKills, "createPathwayVersion": byKills,
	"deletePathwayVersion": byKills, "forkPathwayVersion": byKills, "publishPathway": byKills,
	"createPathwayChat": byKills, "sendPathwayChatMessage": byKills,

	"createTestScenario": byKills, "updateTestScenario": byKills, "deleteTestScenario": byKills, "cloneTestTemplate": byKills,
	"generateTestScenario": "it writes nothing", "analyzeTestRun": "it writes nothing", "rescoreTestScenario": "it writes nothing",
	"replayTestRun": "its only write is that of createPathwayChat, once all is said",
	"startTestRun":  byKills, "startTestBatch": byKills, "createTestSet": byKills,
	"cancelTestRun": byKillsIfLate, "cancelTestBatch": byKillsIfLate, "cancelTestSet": byKillsIfLate,

	"startTornado": byMortals, "cancelTornado": byMortals,

	"createPersona": byKills, "updatePersona": byKills, "deletePersona": byKills, "promotePersona": byKills, "discardPersonaDraft": byKills,

	"uploadPortDocument": byPortKills, "initiatePort": byPortKills, "cancelPortRequest": byPortKills, "resendPortLetter": byPortKills,
	"signLetter": byPortKills,

	"createSpeech":       "one insert, once the audio is kept: TestLostAudioIsRemoved of speech",
	"deleteSpeechSample": "one transaction, with the task that forgets the audio: TestDeleteSample of speech",
	"cloneVoice":         "one insert, once the voice is made: TestCloneThatIsLost of speech",
	"renameVoice":        "one statement", "renameVoiceAlias": "one statement",
	"deleteVoice": "one transaction, with the task that forgets the voice: TestDelete of speech",

	"resumeWebhooks": "one statement, which removes the pause",

	"createIssue": byKills, "updateIssue": byKills, "deleteIssue": byKills, "decideIssue": byKills, "mergeIssue": byKills,
	"markIssueSeen": byKills, "addIssueComment": byKills, "editIssueComment": byKills, "deleteIssueComment": byKills,
	"addIssueFlag": byKills, "removeIssueFlag": byKills, "attachIssueResource": byKills, "detachIssueResource": byKills,
	"relateIssue": byKills, "unrelateIssue": byKills, "startIssueAgentSession": byKills, "addIssueAgentEntry": byKills,
	"analyzeIssue": "TestAnalysisOutlivesServer: what an analysis writes depends on when its steps are taken",
}

// TestKillsCoverContract checks that guarded contains every served operation of the contract that may write. docs/status.md lists the
// operations that are not served, and a test of the transport checks that list.
func TestKillsCoverContract(t *testing.T) {
	t.Parallel()
	page, err := os.ReadFile("../../docs/status.md")
	if err != nil {
		t.Fatal(err)
	}
	var known []string
	for _, o := range contracttest.Operations() {
		known = append(known, o.ID)
		if slices.Contains([]string{http.MethodGet, http.MethodHead, http.MethodOptions}, o.Method) {
			continue
		}
		absent := strings.Contains(string(page), "| `"+o.ID+"` |")
		how, ok := guarded[o.ID]
		if !ok && !absent {
			t.Errorf("%s is served, and TestKills does not exercise it: add a step for it, or the reason to the table", o.ID)
		}
		if ok && (absent || how == "") {
			t.Errorf("%s is in the table with %q; not served: %t", o.ID, how, absent)
		}
	}
	for op := range guarded {
		if !slices.Contains(known, op) {
			t.Errorf("the contract has no operation %s", op)
		}
	}
}
