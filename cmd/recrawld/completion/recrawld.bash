# Completion of recrawld's command lines for bash: sourced, or in /usr/share/bash-completion/completions/recrawld.
_recrawld() {
    local word glue='' line words=()
    for word in "${COMP_WORDS[@]:1:COMP_CWORD}"; do # bash takes words apart at = and :
        if ((${#words[@]})) && [[ -n $glue || $word == [=:]* ]]; then
            words[-1]+=$word
        else
            words+=("$word")
        fi
        glue=''
        [[ $word == *[=:] ]] && glue=1
    done
    ((${#words[@]})) || words=('')
    local last=${words[-1]}
    COMPREPLY=()
    while IFS= read -r line; do
        if [[ $line == :files ]]; then
            compopt -o filenames 2>/dev/null
            last=${last#--*=}
            while IFS= read -r line; do
                COMPREPLY+=("$line")
            done < <(compgen -f -- "$last")
            return
        fi
        line=${line%%$'\t'*}
        COMPREPLY+=("${line#"${last%"${last##*[=:]}"}"}") # without what stands before the word as bash has it
    done < <(recrawld complete -- "${words[@]}" 2>/dev/null)
}
complete -F _recrawld recrawld
