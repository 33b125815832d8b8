# SPDX-License-Identifier: BSD-2-Clause
# fish completion of tracectl: `tracectl complete` prints the words, and tells what fish itself is to list.

function __tracectl_units
    systemctl list-units --all --plain --no-legend 2>/dev/null | string replace -r ' .*' ''
end

function __tracectl_words
    set -l before (commandline -opc)
    set -l typed (commandline -ct)
    set -l all (commandline -op)
    set -l next (math (count $before) + 2)
    test -n "$typed"; or set next (math $next - 1)  # an empty word is none of them
    set -l after
    test $next -le (count $all); and set after $all[$next..-1]
    for line in (command $before[1] complete (math (count $before) - 1) -- $before[2..-1] "$typed" $after 2>/dev/null)
        switch $line
            case :files
                __fish_complete_path "$typed"
            case :directories
                __fish_complete_directories "$typed"
            case :commands
                __fish_complete_command
            case :units
                __tracectl_units
            case '*'
                echo $line
        end
    end
end

complete -c tracectl -f -a '(__tracectl_words)'
