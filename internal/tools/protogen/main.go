// Command protogen writes Go code for .proto files, with protoc-gen-go's own
// generator and without protoc: the files are compiled by protocompile. It needs
// no plugin and no download beyond the tools module.
//
//	protogen -I internal/checkpoint/proto -o internal/checkpoint/proto checkpoint.proto
package main

import (
	"context"
	"flag"
	"fmt"
	"os"
	"path/filepath"

	"github.com/bufbuild/protocompile"
	"google.golang.org/protobuf/cmd/protoc-gen-go/internal_gengo"
	"google.golang.org/protobuf/compiler/protogen"
	"google.golang.org/protobuf/proto"
	"google.golang.org/protobuf/reflect/protodesc"
	"google.golang.org/protobuf/types/descriptorpb"
	"google.golang.org/protobuf/types/pluginpb"
)

func main() {
	from := flag.String("I", ".", "directory that holds the .proto files")
	to := flag.String("o", ".", "directory that the Go files are written to")
	flag.Parse()
	if flag.NArg() == 0 {
		flag.Usage()
		os.Exit(2)
	}
	if err := generate(*from, *to, flag.Args()); err != nil {
		fmt.Fprintln(os.Stderr, "protogen:", err)
		os.Exit(1)
	}
}

func generate(from, to string, files []string) error {
	compiler := protocompile.Compiler{
		Resolver:       protocompile.WithStandardImports(&protocompile.SourceResolver{ImportPaths: []string{from}}),
		SourceInfoMode: protocompile.SourceInfoStandard, // comments go into the Go code
	}
	compiled, err := compiler.Compile(context.Background(), files...)
	if err != nil {
		return err
	}
	request := &pluginpb.CodeGeneratorRequest{
		FileToGenerate: files,
		Parameter:      proto.String("paths=source_relative"),
	}
	known := map[string]bool{}
	for _, file := range compiled {
		descriptors := []*descriptorpb.FileDescriptorProto{protodesc.ToFileDescriptorProto(file)}
		for i := range file.Imports().Len() {
			descriptors = append([]*descriptorpb.FileDescriptorProto{protodesc.ToFileDescriptorProto(file.Imports().Get(i))}, descriptors...)
		}
		for _, descriptor := range descriptors {
			if !known[descriptor.GetName()] {
				known[descriptor.GetName()] = true
				request.ProtoFile = append(request.ProtoFile, descriptor)
			}
		}
	}
	plugin, err := protogen.Options{}.New(request)
	if err != nil {
		return err
	}
	for _, file := range plugin.Files {
		if file.Generate {
			internal_gengo.GenerateFile(plugin, file)
		}
	}
	response := plugin.Response()
	if response.Error != nil {
		return fmt.Errorf("%s", response.GetError())
	}
	for _, file := range response.File {
		if err := os.WriteFile(filepath.Join(to, file.GetName()), []byte(file.GetContent()), 0o644); err != nil {
			return err
		}
	}
	return nil
}
