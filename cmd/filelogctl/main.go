// Command filelogctl looks into the file in which the Collector's file_storage
// keeps the state of a file log receiver, and changes it if asked to:
//
//	filelogctl list   [-json] [-id ID] [-archive]  STORE
//	filelogctl show   [-json] [-id ID]             STORE FILE...
//	filelogctl verify [-json] [-id ID]             STORE
//	filelogctl export [-id ID] [-hash]             STORE
//	filelogctl import [-json] [-create]            STORE [EXPORT]
//	filelogctl set-offset [-json] [-id ID] [-record-number N] STORE FILE OFFSET
//	filelogctl forget     [-json] [-id ID]         STORE FILE...
//
// STORE is a file of file_storage, receiver_filelog_NAME; FILE is the path of a
// log file, or an ID that list prints. docs/filelogctl.md says the rest.
package main

import (
	"context"
	"errors"
	"flag"
	"fmt"
	"io"
	"os"
	"strings"
	"text/tabwriter"
)

// Exit statuses.
const (
	exitWhole = iota
	exitDamaged
	exitFailed
)

// call is one run of a command: its streams, its flags and what is behind them.
type call struct {
	in         io.Reader
	out        io.Writer
	complaints io.Writer

	asJSON       bool
	id           string // only this operator id; empty: all
	archive      bool
	hash         bool
	create       bool
	recordNumber int64 // -1: not given

	store string   // the path of the storage file
	rest  []string // the arguments behind it
}

// command is one of the things that filelogctl does.
type command struct {
	name      string
	arguments string
	says      string
	flags     string // the names of its flags, separated by blanks
	least     int    // arguments behind the store
	most      int    // -1: any number
	run       func(context.Context, *call) (status int, err error)
}

var commands = []command{
	{"list", "STORE", "print each file: how far it was read, how long it is, where that is stored", "json id archive", 0, 0, list},
	{"show", "STORE FILE...", "print all that is stored of some files", "json id", 1, -1, show},
	{"verify", "STORE", "tell whether everything stored is whole", "json id", 0, 0, verify},
	{"export", "STORE", "print everything stored as JSON that import reads", "id hash", 0, 0, export},
	{"import", "STORE [EXPORT]", "replace what is stored by an export (from a file or the standard input)", "json create", 0, 1, importAll},
	{"set-offset", "STORE FILE OFFSET", "let a file be read from another byte; 'end' is the end it has now", "json id record-number", 2, 2, setOffset},
	{"forget", "STORE FILE...", "take files out of what is stored; they count as new then", "json id", 1, -1, forget},
}

// aliases are other names of commands.
var aliases = map[string]string{"check": "verify"}

func main() { os.Exit(run(os.Args[1:], os.Stdin, os.Stdout, os.Stderr)) }

// run is the command with its arguments and streams; it returns the exit status.
func run(arguments []string, in io.Reader, out, complaints io.Writer) int {
	name := ""
	if len(arguments) > 0 {
		name = arguments[0]
	}
	switch name {
	case "", "-h", "-help", "--help", "help":
		printUsage(complaints)
		if name == "" {
			return exitFailed
		}
		return exitWhole
	}
	c := find(name)
	if c == nil {
		// A path alone, maybe behind flags, is listed.
		c = &commands[0]
	} else {
		arguments = arguments[1:]
	}
	status, err := c.runWith(arguments, &call{in: in, out: out, complaints: complaints, recordNumber: -1})
	if err != nil {
		fmt.Fprintf(complaints, "filelogctl: %v\n", err)
		return exitFailed
	}
	return status
}

func find(name string) *command {
	if full, ok := aliases[name]; ok {
		name = full
	}
	for i := range commands {
		if commands[i].name == name {
			return &commands[i]
		}
	}
	return nil
}

// runWith parses the arguments of a command and runs it.
func (c *command) runWith(arguments []string, l *call) (int, error) {
	flags := flag.NewFlagSet("filelogctl "+c.name, flag.ContinueOnError)
	flags.SetOutput(l.complaints)
	for _, name := range strings.Fields(c.flags) {
		switch name {
		case "json":
			flags.BoolVar(&l.asJSON, name, false, "print JSON")
		case "id":
			flags.StringVar(&l.id, name, "", "look at this operator `id` only (file_input, or the setting 'id' of the receiver)")
		case "archive":
			flags.BoolVar(&l.archive, name, false, "print the files in the archive too")
		case "hash":
			flags.BoolVar(&l.hash, name, false, "leave the beginnings of the log files out; their hashes stand for them")
		case "create":
			flags.BoolVar(&l.create, name, false, "make STORE if it is not there")
		case "record-number":
			flags.Int64Var(&l.recordNumber, name, -1, "how many records are `before` the offset; without it the number stays, and is 0 at offset 0")
		}
	}
	flags.Usage = func() {
		fmt.Fprintf(l.complaints, "usage: filelogctl %s [flags] %s\n\n%s.\n\n", c.name, c.arguments, capital(c.says))
		flags.PrintDefaults()
	}
	rest, err := parseAnywhere(flags, arguments)
	switch {
	case errors.Is(err, flag.ErrHelp):
		return exitWhole, nil
	case err != nil:
		return exitFailed, nil // the flag set has said it
	}
	if n := len(rest) - 1; n < c.least || (c.most >= 0 && n > c.most) {
		flags.Usage()
		return exitFailed, nil
	}
	l.store, l.rest = rest[0], rest[1:]
	return c.run(context.Background(), l)
}

// parseAnywhere parses flags before, between and behind other arguments, which it
// returns. Behind "--" there are no flags.
func parseAnywhere(flags *flag.FlagSet, arguments []string) (rest []string, err error) {
	for {
		if err := flags.Parse(arguments); err != nil {
			return nil, err
		}
		parsed := len(arguments) - flags.NArg()
		if parsed > 0 && arguments[parsed-1] == "--" {
			return append(rest, flags.Args()...), nil
		}
		if flags.NArg() == 0 {
			return rest, nil
		}
		rest = append(rest, flags.Arg(0))
		arguments = flags.Args()[1:]
	}
}

func printUsage(w io.Writer) {
	fmt.Fprint(w, "usage: filelogctl COMMAND [flags] STORE ...\n\n"+
		"STORE is a file of the Collector's file_storage: receiver_filelog_NAME. FILE is the path\n"+
		"of a log file, or an ID that list prints.\n\n")
	table := tabwriter.NewWriter(w, 0, 8, 2, ' ', 0)
	for _, c := range commands {
		fmt.Fprintf(table, "  %s %s\t%s\n", c.name, c.arguments, c.says)
	}
	_ = table.Flush()
	fmt.Fprint(w, "\nlist, show, verify and export change nothing, and read a copy while the Collector has\n"+
		"STORE open. The others refuse then, and keep a backup beside STORE.\n"+
		"Exit status: 0, 1 if something stored is damaged (verify, export), 2 on failure.\n"+
		"'filelogctl COMMAND -h' tells the flags.\n")
}

func capital(s string) string { return strings.ToUpper(s[:1]) + s[1:] }
