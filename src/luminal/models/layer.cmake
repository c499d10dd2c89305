find_package(nlohmann_json REQUIRED)
target_link_libraries(luminal_models PRIVATE $<BUILD_INTERFACE:nlohmann_json::nlohmann_json>)
