// Package conversation measures how well an agent takes turns with human callers. Its tests run package agents/conversation against
// scripted callers under a fake clock: the callers' audio is real, and the recognizer, the brain and the synthesizer are stand-ins with known
// latencies. The tests of each row fail if the row gets worse by more than its stated noise.
//
// By default, the callers' voices are synthesized. The script run.sh fetches recordings of human voices, and prints the whole table.
package conversation
